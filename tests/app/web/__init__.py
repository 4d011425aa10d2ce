"""The screens of people in Chromium, one browser for all of them."""
