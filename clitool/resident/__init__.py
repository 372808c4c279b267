"""The resident worker: makes the calls of one user in warm processes; `clitool.stub` is the command's side of it."""
