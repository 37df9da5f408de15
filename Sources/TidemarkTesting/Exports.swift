// Exports.swift — what comes with `import TidemarkTesting`: replays, and what a test of an adapter
// needs.

@_exported public import TidemarkReplay
@_exported public import TidemarkSync
