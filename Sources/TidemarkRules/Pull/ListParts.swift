// ListParts.swift — which lists a rule leads to whose parameters come from documents.

package import TidemarkEvents

/// The lists of a rule, by the values that documents have.
package enum ListParts {
    /// The parameters of each of its lists, in the order of the values' bytes.
    ///
    /// Of a parameter without `each` all values stand in one list, with commas between, as far as
    /// there is room; then in several. Without a value of one parameter there is no list. Left out
    /// are values that no list has room for, and those with a comma where several stand together.
    ///
    /// - Parameter values: those of each source, in the order of the rule's.
    package static func of(_ rule: ListRule, values: [[String]]) -> [ListParameters] {
        var found: [[(name: String, value: String)]] = [[]]
        let sources = zip(rule.from, values.map(ordered))
        for (source, values) in sources where source.each {
            found = found.flatMap { known in values.map { known + [(source.parameter, $0)] } }
        }
        let joined = sources.filter { !$0.0.each }
        return found.flatMap { known -> [ListParameters] in
            let blank = rule.with(known + joined.map { ($0.0.parameter, "") })
            let room = ListParameters.bytesMax - blank.scope.utf8.count
            guard room >= 0 else { return [] }
            var parts = [known]
            for (source, values) in joined {
                let sets = sets(of: values, upTo: room / joined.count)
                parts = parts.flatMap { part in sets.map { part + [(source.parameter, $0)] } }
            }
            return parts.map { rule.with($0) }
        }
    }

    /// Each value once, in the order of their bytes, without those that say nothing.
    private static func ordered(_ values: [String]) -> [String] {
        Set(values.map { ExactString($0) }).map(\.text).filter { !$0.isEmpty }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The values with commas between, no text longer than so many bytes as JSON.
    private static func sets(of values: [String], upTo bytesMax: Int) -> [String] {
        var sets: [String] = []
        var bytes = 0
        for value in values where !value.contains(",") {
            let count = JSONValue.string(value).encoded().count - 2
            guard count <= bytesMax else { continue }
            if let last = sets.last, bytes + 1 + count <= bytesMax {
                sets[sets.count - 1] = "\(last),\(value)"
                bytes += 1 + count
            } else {
                sets.append(value)
                bytes = count
            }
        }
        return sets
    }
}
