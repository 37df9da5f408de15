// Main.swift — the command `tidemark`, with the adapters that the library has.

import TidemarkTool

@main
enum Main {
    static func main() async { await CommandLineTool.run() }
}
