"""What goes over the wire, as pydantic models; the typed client is made from them."""
