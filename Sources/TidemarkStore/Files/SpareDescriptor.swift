// SpareDescriptor.swift — a descriptor in reserve, for what must not fail for want of one.

/// An open descriptor that is given up when another one is needed.
package final class SpareDescriptor: Sendable {
    private let descriptor: Lock<Int32?>

    /// Takes one, by opening a directory that is there.
    ///
    /// - Throws: ``StoreError``: what the system says.
    package init(_ directory: String) throws(StoreError) {
        do throws(SystemNumber) {
            let opened = try Platform.openDirectory(directory)
            descriptor = Lock(opened)
        } catch {
            throw .system(error.number, during: "open", directory)
        }
    }

    deinit { release() }

    /// Gives it up; nothing when that was done before.
    package func release() {
        let held = descriptor.withLock { descriptor in descriptor.take() }
        if let held { Platform.closeFile(held) }
    }
}
