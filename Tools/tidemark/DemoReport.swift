// DemoReport.swift — the end of the demo: the contents of the stores, and commands to explore them.

import Foundation
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkViews

struct DemoReport {
    let folder: String

    func print(_ scene: DemoScene) throws {
        for name in ["phone", "laptop"] { try table(name) }
        try ledger("laptop")
        try why("laptop", EntityKey("time_entries", "102"))
        for name in ["phone", "laptop"] { try proof(name) }
        try next()
        Terminal.flush()
    }

    private func open<R>(_ name: String, _ body: (Journal) throws -> R) throws -> R {
        let journal = try Journal.open(at: "\(folder)/\(name)", readOnly: true)
        let result = try body(journal)
        try journal.close()
        return result
    }

    private func table(_ name: String) throws {
        title("The \(name)'s tables")
        try open(name) { journal in
            try journal.read { views in
                try views.forEachEntity { key, row in
                    guard let document = row.document else { return true }
                    let status = row.status.rawValue.padded(to: 11)
                    Terminal.write(
                        cut(
                            "   \("\(key)".padded(to: 24)) \(status) "
                                + EventLine.onOneLine(document)))
                    return true
                }
            }
        }
    }

    private func ledger(_ name: String) throws {
        title("Every mutation of the \(name), and the event that proves its outcome")
        try open(name) { journal in
            try journal.read { views in
                for entry in try views.outbox(all: true) {
                    let reasons =
                        entry.mutation.proof.map { ["\($0)"] }
                        ?? entry.blockers.map(
                            \.description)
                    let proof = reasons.isEmpty ? "" : " by " + reasons.joined(separator: ", ")
                    Terminal.write(
                        cut(
                            "   \("\(entry.position)".padded(to: 5)) "
                                + "\(entry.mutation.kind)".padded(to: 14)
                                + "\(entry.mutation.key) ".padded(to: 20) + "\(entry.word)\(proof)")
                    )
                }
            }
        }
    }

    private func why(_ name: String, _ entity: EntityKey) throws {
        title("Why the \(name)'s \(entity) is as it is")
        try open(name) { journal in
            let lines = try journal.read {
                try EntityExplanation(EntityTarget(entity), $0)?.lines ?? []
            }
            for line in lines { Terminal.write(cut("   " + line)) }
        }
    }

    private func proof(_ name: String) throws {
        let result = try open(name) { journal in try journal.verify(.deep) }
        guard result.isFine else {
            for finding in result.findings { Terminal.write(finding) }
            throw Exit.findings
        }
        title(
            "verify \(name): fine, \(result.events) events in \(result.commits) commits, root "
                + result.root.prefix(16) + "…")
    }

    private func next() throws {
        let model = ModelRegistration(
            model: SyncModel(
                name: "todo",
                collections: [
                    CollectionModel("lists", lastChangeField: "last_modified"),
                    CollectionModel(
                        "tasks", lastChangeField: "last_modified", conflict: .localWins,
                        references: [Reference("list", to: "lists")]),
                ]), remote: .kinto(origin: "http://127.0.0.1:8888", bucket: "todo"))
        try SmallFile(at: "\(folder)/model.json").replace(with: model.encoded, isDurable: false)
        title("Look further")
        // Suggests to put the tool on the PATH where it is not.
        let tool = CommandLine.arguments[0]
        if tool.contains("/") {
            let place = URL(filePath: tool).deletingLastPathComponent().path
            Terminal.write("   export PATH=\"\(place):$PATH\"")
        }
        let commands = """
               cd \(URL(filePath: folder).path.shellQuoted)
               tidemark dump phone -o verbose
               tidemark why laptop time_entries/102
               tidemark outbox laptop --all
               tidemark verify phone
            Sync with a real Kinto: run Tools/kinto in another terminal, then
               tidemark init real --model model.json
               tidemark put real tasks/t1 '{"title":"tea"}'
               TIDEMARK_CREDENTIALS=me:secret tidemark sync real
            """
        for line in commands.split(separator: "\n") { Terminal.write(String(line)) }
    }

    private func title(_ text: String) {
        Terminal.write("")
        Terminal.write(text)
    }
}
