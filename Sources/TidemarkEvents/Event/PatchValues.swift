// PatchValues.swift — what a patch sets, looked up by many of its names.

/// The values that a patch gives its fields, found in no time that grows with them.
package struct PatchValues: Sendable {
    private let patch: Patch
    /// Where fields stand among those that are set, where these are many.
    private var places: [ExactString: Int] = [:]

    package init(_ patch: Patch) {
        self.patch = patch
        guard patch.set.count > JSONKeys.fewMax else { return }
        places = Dictionary(
            patch.set.enumerated().map { (ExactString($1.name), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The value of a field: nil when it is removed or left alone.
    package subscript(field: String) -> [UInt8]? {
        if places.isEmpty { return patch.value(of: field) }
        return places[ExactString(field)].map { patch.set[$0].value }
    }
}
