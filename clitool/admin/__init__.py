"""What the commands for people do: set up, issue tokens, check, explain, describe. No call of a machine comes here."""
