"""What is answered over HTTP: who is let in, the routes, and what they give."""
