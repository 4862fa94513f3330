"""What may be asked: LibreTranslate's API, OpenAI's and our own, and the page that describes them."""
