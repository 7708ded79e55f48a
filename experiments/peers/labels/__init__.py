"""What label policies are worth."""
