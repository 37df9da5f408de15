// IDOrder.swift — the one order of ids, where a rule needs one.

/// Whole numbers by their size, before all other texts, by their bytes.
///
/// Total: whatever ids are compared, in whatever order, the same one comes first.
package enum IDOrder {
    package static func precedes(_ one: String, _ other: String) -> Bool {
        switch (Int64(one), Int64(other)) {
        case (let a?, let b?) where a != b: a < b
        case (.some, nil): true
        case (nil, .some): false
        default: one.utf8.lexicographicallyPrecedes(other.utf8)
        }
    }
}
