// Exports.swift — the vocabulary that comes with `import TidemarkSync`: who writes an adapter needs
// all of it.

@_exported public import TidemarkEvents
