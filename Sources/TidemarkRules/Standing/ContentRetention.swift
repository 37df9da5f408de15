// ContentRetention.swift — which files beside entities are removed.
//
// A file is kept that is referenced and wanted, that is being fetched or sent, or that is younger
// than `grace`. A file that nothing references goes; one that is referenced and that nobody wants
// goes by an option of the model: `unwanted`, a time after its last use, seven days in a tree that
// says none, or `quotaBytes`; or where it was wanted only with all that lies in an entity, and is
// not any more. A file of the user's that the server does not have is never removed while anything
// references it. A time far ahead of the clock is of one that was wrong, and over.

package import TidemarkEvents

/// A field of a collection that names files.
package struct ContentField: Hashable, Comparable, Sendable {
    package var collection: CollectionName
    /// As it stands in the collection's rule.
    package var field: String

    package init(_ collection: CollectionName, _ field: String) {
        self.collection = collection
        self.field = field
    }

    package static func < (left: ContentField, right: ContentField) -> Bool {
        if left.collection != right.collection { return left.collection < right.collection }
        return left.field.utf8.lexicographicallyPrecedes(right.field.utf8)
    }
}

/// What is known of a stored file.
package struct ContentStanding: Sendable, Hashable {
    package var digest: String
    package var bytes: UInt64
    /// When it was stored, by the device's clock.
    package var storedAt: Timestamp
    /// When it was used last, or stored.
    package var usedAt: Timestamp
    /// The fields by which entities reference it, in order; empty for none.
    package var fields: [ContentField] = []
    /// Whether anybody wants it.
    package var isWanted = false
    /// Whether an entity references it as a file of the user's, which the server has no name for.
    package var isOwn = false
    /// Whether it was wanted with all that lies in an entity, and a whole list came since it is not
    /// any more.
    package var isLetGo = false
    /// Whether it is being fetched or sent.
    package var isInFlight = false

    package init(digest: String, bytes: UInt64, storedAt: Timestamp, usedAt: Timestamp) {
        self.digest = digest
        self.bytes = bytes
        self.storedAt = storedAt
        self.usedAt = usedAt
    }
}

/// Decides which files are removed.
package struct ContentRetention: Sendable {
    private let rules: [ContentField: ContentRule]
    /// In the order of the model.
    private let order: [ContentField]
    /// How long every file is kept.
    private let graceMax: TimeSpan

    package init(_ model: SyncModel) {
        var rules: [ContentField: ContentRule] = [:]
        var order: [ContentField] = []
        for collection in model.collections {
            for rule in collection.heldContents {
                let field = ContentField(collection.name, rule.field)
                rules[field] = rule
                order.append(field)
            }
        }
        self.rules = rules
        self.order = order
        let graces = order.compactMap { rules[$0]?.grace }
        graceMax = graces.max { $0.seconds < $1.seconds } ?? .zero
    }

    /// Whether files that are referenced may be removed, too.
    package var looksAtReferenced: Bool {
        rules.values.contains { $0.unwanted != nil || $0.quotaBytes != nil }
    }

    /// The files to remove, in their order, and then those that quotas leave no room for.
    ///
    /// - Parameter now: by the clock of the times in `contents`.
    package func removals(
        of contents: [ContentStanding], at now: Timestamp
    ) -> [(digest: String, reason: AssetRemoved.Reason)] {
        var removals: [(digest: String, reason: AssetRemoved.Reason)] = []
        var left: [ContentStanding] = []
        for content in contents {
            if isUnused(content, at: now) {
                removals.append((content.digest, .unused))
            } else {
                left.append(content)
            }
        }
        for field in order {
            guard let quota = rules[field]?.quotaBytes.map(UInt64.init(clamping:)) else { continue }
            var total = left.reduce(UInt64(0)) { sum, content in
                content.fields.contains(field) ? sum + content.counted : sum
            }
            guard total > quota else { continue }
            let candidates = left.filter { content in
                content.fields.contains(field) && isFree(content, at: now)
                    && content.fields.allSatisfy { rules[$0]?.quotaBytes != nil }
            }.sorted { (use($0, at: now), $0.digest) < (use($1, at: now), $1.digest) }
            var gone: Set<String> = []
            for content in candidates where total > quota {
                total -= content.counted
                gone.insert(content.digest)
                removals.append((content.digest, .quota))
            }
            left.removeAll { gone.contains($0.digest) }
        }
        return removals
    }

    private func isUnused(_ content: ContentStanding, at now: Timestamp) -> Bool {
        guard !content.fields.isEmpty else {
            return !content.isOwn && !content.isInFlight
                && isPast(content.storedAt, graceMax, at: now)
        }
        if content.isLetGo, isUnclaimed(content) { return true }
        guard isFree(content, at: now) else { return false }
        return content.fields.allSatisfy { field in
            guard let unwanted = rules[field]?.unwanted else { return false }
            return isPast(content.usedAt, unwanted, at: now)
        }
    }

    /// Whether a file that is referenced may go by an option of the model.
    private func isFree(_ content: ContentStanding, at now: Timestamp) -> Bool {
        isUnclaimed(content)
            && content.fields.allSatisfy { field in
                rules[field].map { isPast(content.storedAt, $0.grace, at: now) } ?? false
            }
    }

    /// Whether neither anybody nor the model wants a file here that is referenced.
    private func isUnclaimed(_ content: ContentStanding) -> Bool {
        guard !content.isWanted, !content.isOwn, !content.isInFlight else { return false }
        return content.fields.allSatisfy { rules[$0]?.when == .demand }
    }

    /// What is dated later than so long after now was dated by a clock that was wrong.
    private static let aheadMax = TimeSpan.days(1)

    private func isPast(_ time: Timestamp, _ span: TimeSpan, at now: Timestamp) -> Bool {
        time < now.subtracting(span) || time > now.adding(Self.aheadMax)
    }

    /// When a file was used last; what a wrong clock dated comes before all others.
    private func use(_ content: ContentStanding, at now: Timestamp) -> Timestamp {
        content.usedAt > now.adding(Self.aheadMax) ? Timestamp(rawValue: .min) : content.usedAt
    }
}

extension ContentStanding {
    /// Its length for a quota: no file is so long that a sum of them would not fit.
    fileprivate var counted: UInt64 { min(bytes, 1 << 40) }
}
