"""The dialect of Rocket.Chat: its REST API over the chat, with login, people, direct conversations and channels."""
