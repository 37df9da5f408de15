// Unsaved.swift — what would be lost with a store, or with some of its collections.

import TidemarkEvents
import TidemarkViews

/// What no server has.
struct Unsaved {
    /// The changes that the server has not acknowledged, refused ones included.
    private(set) var changes = 0
    /// Those that the server refused.
    private var refused = 0
    /// The files that only this device has, beside those that wait with a change.
    private let files: Int

    var isEmpty: Bool { changes == 0 && files == 0 }

    /// - Parameter kept: collections that stay.
    init(_ rows: some RowReading, except kept: Set<CollectionName> = []) throws {
        files = try rows.countFilesOnlyHere(except: kept)
        try rows.forEachMutation(openOnly: true) { _, mutation in
            guard !kept.contains(mutation.key.collection) else { return true }
            changes += 1
            if mutation.outcome == .rejected { refused += 1 }
            return true
        }
    }

    /// What there is of it, as the beginning of a sentence.
    var words: String {
        var parts: [String] = []
        if changes > 0 {
            let subject = changes == 1 ? "1 change is" : "\(changes) changes are"
            let ofThem = refused == 0 ? "" : ", \(refused) of them refused by it"
            parts.append("\(subject) not on the server\(ofThem)")
        }
        if files > 0 {
            parts.append((files == 1 ? "1 file is" : "\(files) files are") + " only on this device")
        }
        return parts.joined(separator: ", and ")
    }
}
