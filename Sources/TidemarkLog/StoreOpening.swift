// StoreOpening.swift — who opens a store, and from where.

package import TidemarkStore

/// What an opening for writing brings from outside.
package struct StoreOpening: Sendable {
    /// Whose data it is; nil asks nothing.
    package var account: String?
    /// Which device this is; nil when that can't be told.
    package var device: String?
    /// Names the start of the device since which it runs; nil when that can't be told.
    package var bootID: String?
    /// Makes the id of a new store.
    package var makeID: @Sendable () -> String
    /// How long to wait for another process that has it open.
    package var waiting: Duration
    /// How much address space the file takes until it has to grow; nil for the usual.
    package var mapBytes: Int?
    /// What the store is adopted as, whatever identity.json says; nil for no adoption.
    ///
    /// The file stays as it is until ``StoreGuard/writeDown()``: who dies before that has adopted
    /// nothing, and the store is refused as before.
    package var adopted: StoreIdentity?
    /// The lock of the directory, where whoever opens it has it, and keeps it when it is closed.
    package var lock: DirectoryLock?

    package init(
        account: String? = nil, device: String? = nil, bootID: String? = nil,
        waiting: Duration = .zero,
        makeID: @escaping @Sendable () -> String = { "unnamed" }
    ) {
        self.account = account
        self.device = device
        self.bootID = bootID?.isEmpty == true ? nil : bootID
        self.makeID = makeID
        self.waiting = waiting
    }

    /// How many openings in a row may die before the next one is refused.
    package static let attemptsMax = 2

    /// Whether a store of this identity may be opened.
    ///
    /// An account that one side doesn't name is not compared, nor is such a device.
    ///
    /// - Throws: `otherAccount`, `otherDevice`, `interrupted`.
    func check(_ identity: StoreIdentity) throws(StoreError) {
        if let account, let known = identity.account, account != known {
            throw StoreError(
                .otherAccount, during: "open",
                detail: "the store belongs to the account \"\(known)\", not to \"\(account)\"")
        }
        try checkDevice(identity)
        try checkAttempts(identity)
    }

    func checkDevice(_ identity: StoreIdentity) throws(StoreError) {
        if let device, let known = identity.device, device != known {
            throw StoreError(
                .otherDevice, during: "open",
                detail: "the store was last used on another device (\(known), this is \(device)); "
                    + "two devices that go on from one copy would contradict each other")
        }
    }

    func checkAttempts(_ identity: StoreIdentity) throws(StoreError) {
        if let attempts = identity.opening?.attempts, attempts >= Self.attemptsMax {
            throw StoreError(
                .interrupted, during: "open",
                detail: "the last \(attempts) processes that opened the store died of it")
        }
    }

    /// The identity with what this opening knows more.
    func naming(_ identity: StoreIdentity) -> StoreIdentity {
        var identity = identity
        identity.account = identity.account ?? account
        identity.device = device ?? identity.device
        identity.bootID = bootID
        return identity
    }
}
