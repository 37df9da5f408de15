// Exports.swift — the vocabulary that comes with `import Tidemark`.

@_exported public import TidemarkEvents
@_exported public import TidemarkReplay
@_exported public import TidemarkSync
