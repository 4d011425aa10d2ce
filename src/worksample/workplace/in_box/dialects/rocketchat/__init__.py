"""Rocket.Chat's REST API over the chat: login, people, direct conversations, channels."""
