"""The language server: `opgen lsp`. Only this package knows pygls."""
