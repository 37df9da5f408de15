// Main.swift — the command `tidemark`, with the library's adapters.

import TidemarkTool

@main
enum Main {
    static func main() async { await CommandLineTool.run() }
}
