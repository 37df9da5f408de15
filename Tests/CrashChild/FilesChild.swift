// FilesChild.swift — a process that takes files in and has others removed, and may die at any call:
// `crash-child files STORE FILE OTHER`.
//
// Prints what was acknowledged: the id of the task that names the file.

import Tidemark
import TidemarkEvents

enum FilesChild {
    static func run(_ words: [String]) {
        guard words.count == 3 else { CrashChild.fail("usage: STORE FILE OTHER") }
        do { try run(words[0], words[1], words[2]) } catch { CrashChild.fail("\(error)") }
    }

    private static func run(_ store: String, _ file: String, _ other: String) throws {
        let replica = try Replica.open(existing: store)
        try attach(file, to: "kept", replica)
        try attach(other, to: "gone", replica)
        try replica.write { tx in try tx.discard(EntityKey("tasks", "gone")) }
        // Sweeps, as nobody did before.
        try replica.close()
        CrashChild.say("swept")
    }

    private static func attach(_ file: String, to id: String, _ replica: Replica) throws {
        let name = try replica.importFile(at: file)
        try replica.write { tx in
            let document = JSONValue.object(["photo": name.json]).encoded()
            _ = try tx.put(EntityKey("tasks", id), document)
        }
        CrashChild.say(id)
    }
}
