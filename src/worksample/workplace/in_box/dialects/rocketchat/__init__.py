"""Rocket.Chat's REST API over the chat: log in, people, direct conversations, channels."""
