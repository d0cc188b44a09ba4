"""What a language model is shown, within a budget: packets chosen, ordered and shortened; conversations remembered."""
