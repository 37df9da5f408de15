// Exports.swift — the vocabulary that comes with `import Tidemark`.

@_exported public import TidemarkCapsule
@_exported public import TidemarkEvents
@_exported public import TidemarkSync
