// EntityRow+Visible.swift — the document of an entity, out of its row's bytes, without making the
// row: it is asked for with every row that a commit changes in a collection with indexes.

package import TidemarkEvents

extension EntityRow {
    /// What ``document`` of the row with these bytes is.
    ///
    /// - Throws: ``ProtoError`` for a damaged row.
    package static func visibleDocument(in row: [UInt8]) throws(ProtoError) -> ArraySlice<UInt8>? {
        var state = BaseState.absent
        var base: ArraySlice<UInt8> = []
        var current: ArraySlice<UInt8> = []
        var pending: ArraySlice<UInt8>?
        var pendingCount = 0
        var reader = ProtoReader(row)
        while let field = try reader.next() {
            switch field.number {
            case 1: state = BaseState(rawValue: try field.unsigned()) ?? .absent
            case 2: base = try field.slice()
            case 7:
                pendingCount += 1
                pending = try field.slice()
            case 8: current = try field.slice()
            case 17, 25: if try field.flag() { return nil }
            default: continue
            }
        }
        guard let pending else { return state == .live ? base : nil }
        if pendingCount == 1, state != .live {
            var kind = Pending.Kind.update
            var payload: ArraySlice<UInt8> = []
            var inner = ProtoReader(Array(pending))
            while let field = try inner.next() {
                switch field.number {
                case 2: kind = Pending.Kind(rawValue: try field.unsigned()) ?? .update
                case 3: payload = try field.slice()
                default: continue
                }
            }
            if kind == .create { return payload }
        }
        return current.isEmpty ? nil : current
    }
}
