"""What every request passes before it is answered: the network, the figures, the guard, the limits."""
