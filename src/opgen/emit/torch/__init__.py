"""Registrations that only target torch needs: autograd, functionalization and its twins."""
