"""The OpenAI Realtime protocol, and the servers that speak it."""
