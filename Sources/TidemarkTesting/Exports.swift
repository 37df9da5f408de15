// Exports.swift — replays come with `import TidemarkTesting`.

@_exported public import TidemarkReplay
