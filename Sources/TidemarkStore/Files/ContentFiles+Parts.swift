// ContentFiles+Parts.swift — files in the making that come part by part.

extension ContentFiles {
    /// Makes an empty file in the making, in the place of what may have that name.
    package func make(part: String) throws(StoreError) {
        let path = try path(ofPart: part)
        try prepare()
        do throws(SystemNumber) {
            try Platform.remove(path)
            Platform.closeFile(try Platform.createFile(path, inStore: store))
        } catch { throw .system(error.number, during: "contents", path) }
    }

    /// The length of a file in the making; nil where it isn't there.
    package func bytes(ofPart part: String) throws(StoreError) -> UInt64? {
        try Self.length(at: try path(ofPart: part))
    }

    /// Makes what is in a file in the making durable.
    ///
    /// - Parameter isNew: whether its name is made durable, too.
    package func sync(part: String, isNew: Bool) throws(StoreError) {
        let path = try path(ofPart: part)
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(path)
            defer { Platform.closeFile(descriptor) }
            try Platform.sync(descriptor)
            if isNew { try Platform.syncDirectory(parts) }
        } catch { throw .system(error.number, during: "contents", path) }
    }

    /// Takes away what comes after the first bytes of a file in the making, and the file where
    /// nothing is left of it.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where it isn't there or has fewer; what the system
    ///   says.
    package func cut(part: String, at bytes: UInt64) throws(StoreError) {
        guard bytes > 0 else { return try remove(part: part) }
        let (path, offset) = (try path(ofPart: part), Int(clamping: bytes))
        try checkPlace()
        try PartFile(path, writing: true, atLeast: offset).cut(at: offset)
    }
}
