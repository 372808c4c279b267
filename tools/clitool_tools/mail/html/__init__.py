"""HTML as a reader sees it: tokens, a stack of open elements, their looks, and the text that is left."""
