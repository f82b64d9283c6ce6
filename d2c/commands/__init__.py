"""The command `d2c`: one file a command."""
