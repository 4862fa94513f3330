"""What requests and answers look like, API by API."""
