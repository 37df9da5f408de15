// Exports.swift — the types that come with `import TidemarkTesting`: replays, and those that a test
// of an adapter needs.

@_exported public import TidemarkReplay
@_exported public import TidemarkSync
