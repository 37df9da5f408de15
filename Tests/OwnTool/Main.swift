// Main.swift — a tool as an app makes it whose server needs an adapter of its own.

import TidemarkHTTP
import TidemarkSync
import TidemarkTool

@main
enum Main {
    static func main() async {
        await CommandLineTool.run(
            adapters: ["mine": { KintoAdapter(origin: $0.origin, bucket: "mine") }])
    }
}
