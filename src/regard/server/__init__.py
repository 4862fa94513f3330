"""Models behind HTTP: LibreTranslate's API, OpenAI's, and our own.

A request comes in through edge/, is understood in api/, and asks one of the models.py. Each model has a process of its
own: supervisor.py is the server's side of it, line.py the connection, messages.py what is said on it, work/ the other
side. Only work/ imports torch.
"""
