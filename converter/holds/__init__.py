"""Numbered holds: an imperative stop that wins over git, and that no late call undoes.

A hold has an instance, 1 to 2**32 - 1. The highest that was accepted is in force until it is
released under its own number. The rules are in `rules`, once for every kind of object; `call`
carries one call out against a store, and there is one store a kind.
"""
