"""The app's API, a file per noun."""
