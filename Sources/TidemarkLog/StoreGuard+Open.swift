// StoreGuard+Open.swift — opening a store for writing: what is asked, in which order.
//
//   1. the directory is there, or is made (0700), and on a disk of this machine
//   2. this process has it open already: that is shared; it is opening it: wait for that; another
//      one has it: wait, then `busy`
//   3. the lock on the directory, held until the store is closed
//   4. what a shrinking left that was cut off is ended; no file is a link, none has a second name
//   5. identity.json and data.mdb fit together: a whole store, the rest of a creation that was cut
//      off, nothing at all, or an error that says what is gone
//   6. account, device, and how the last openings ended
//   7. rights of others are taken; pages are looked at, before LMDB maps them: the free list, after
//      another start of the device those of the log, after an opening that died all; none where the
//      file is as the last closing left it
//   8. identity.json counts this attempt
//   9. the store is mapped read-only: format, id, high-water position and root, tail
//  10. it is mapped for writing, a store of format 1 taken over, and identity.json says that the
//      attempt got through
//
// A refusal leaves data.mdb untouched and identity.json as it was. Creation writes identity.json
// with `initialised` false first and true last: what lies between was never acknowledged. What is
// adopted is opened as what it becomes, and identity.json says so when all is done.

import TidemarkEvents
package import TidemarkStore

/// The stores that this process has open for writing, or opens or closes, by their directory.
private let openStores = Lock<[FileIdentity: Place]>([:])

/// A directory with a store.
private struct Place: Sendable {
    /// Taken by who opens this store, or ends its last opening: all other stores go on meanwhile.
    let turn = ThreadTurn()
    /// How many have the turn, or wait for it.
    var users = 0
    var store = Weak(guardian: nil)

    var isInUse: Bool { users > 0 || store.guardian?.isOpen == true }
}

private struct Weak: Sendable {
    weak let guardian: StoreGuard?
}

extension StoreGuard {
    package typealias Opened = (environment: Environment, guardian: StoreGuard)

    /// Opens the store in a directory for writing; with `create`, makes one that isn't there.
    ///
    /// Blocks while another process has it open, for at most `opening.waiting`.
    ///
    /// - Throws: ``StoreError`` or ``LogError``: see ``StoreError/Code``.
    package static func open(
        _ directory: String, _ options: Environment.Options, _ opening: StoreOpening,
        checking: (_ page: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> Opened {
        try StoreFiles.prepare(directory, mayCreate: options.create)
        return try withoutActuallyEscaping(checking) { checking in
            try waiting(for: directory, opening) {
                try attempt(directory, options, opening, checking)
            }
        }
    }

    /// Runs `attempt` again while it says that another process has the store open for writing, or
    /// that it is open in this one in a way that can't be shared.
    ///
    /// What the system refuses, as two processes have one number, is not waited for.
    static func waiting<R>(
        for directory: String, _ opening: StoreOpening, _ attempt: () throws -> R
    ) throws -> R {
        var busy = StoreError(.busy, during: "open", detail: "")
        func attemptIfFree() throws -> R? {
            do { return try attempt() } catch let error as StoreError
                where error.code == .busy && error.number == 0
            {
                busy = error
                return nil
            }
        }
        if let result = try attemptIfFree() { return result }
        // One that was let go of without being closed may need a moment more.
        let isOurs = try holdingProcess(of: directory) == Waiting.processID
        let longest = isOurs ? max(.seconds(1), opening.waiting) : opening.waiting
        if let result = try Waiting.retry(for: longest, attemptIfFree) { return result }
        if busy.during == "lock" {
            busy.during = "open"
            busy.detail = "\(holder(of: directory)) has \(directory) open for writing"
        }
        throw busy
    }

    private static func attempt(
        _ directory: String, _ options: Environment.Options, _ opening: StoreOpening,
        _ checking: @escaping (UInt64, UInt64) -> Void
    ) throws -> Opened {
        let place = try FileIdentity(ofDirectory: directory)
        return try whileOthersClose(place) { () throws -> Opened in
            if let guardian = guardian(of: place), guardian.isOpen {
                guard !guardian.isLeaving else {
                    throw StoreError(
                        .busy, during: "open", detail: "\(directory) is being removed or shrunk")
                }
                var identity = guardian.identity
                identity.opening = nil
                try opening.check(identity)
                let environment = try Self.opened(directory, options)
                guardian.join(opening)
                return (environment, guardian)
            }
            guard !Environment.isReadHere(directory) else {
                throw StoreError(
                    .busy, during: "open",
                    detail: "this process has \(directory) open to read only")
            }
            let opened = try Unopened(directory, options, opening, checking).open()
            let store = Weak(guardian: opened.guardian)
            openStores.withLock { $0[opened.guardian.place, default: Place()].store = store }
            return opened
        }
    }

    /// Opens the store in a directory to read only, or shares it where this process has it open.
    ///
    /// Blocks while this process opens it for writing: who does that could not share what is open
    /// to read only.
    ///
    /// - Throws: ``StoreError``: see ``Environment/open(at:_:)``.
    package static func openToRead(
        _ directory: String, _ options: Environment.Options
    ) throws -> Environment {
        guard let place = try? FileIdentity(ofDirectory: directory) else {
            // Says what is wrong with the path.
            return try Environment.open(at: directory, options)
        }
        return try whileOthersClose(place) { try Self.opened(directory, options) }
    }

    /// Opens a store within a turn, in which nobody waits for a closing.
    ///
    /// - Throws: ``StillClosing``, and what ``Environment/open(at:_:)`` throws.
    fileprivate static func opened(
        _ directory: String, _ options: Environment.Options
    ) throws -> Environment {
        switch try Environment.attempt(at: directory, options) {
        case .opened(let environment): return environment
        case .closing(let file): throw StillClosing(file: file)
        }
    }

    /// Thrown within a turn to open a store: its file is being closed.
    private struct StillClosing: Error {
        let file: FileIdentity
    }

    /// Runs `body` as ``whileNobodyOpens(_:_:)`` does, and again once a closing that it met has
    /// ended: others have their turn meanwhile, as a read that the closing waits for may open.
    private static func whileOthersClose<Result>(
        _ place: FileIdentity, _ body: () throws -> Result
    ) throws -> Result {
        while true {
            do { return try whileNobodyOpens(place, body) } catch let error as StillClosing {
                Environment.waitWhileClosing(error.file)
            }
        }
    }

    private static func guardian(of place: FileIdentity) -> StoreGuard? {
        openStores.withLock { stores in stores[place]?.store.guardian }
    }

    /// Runs `body` while no other thread of this process opens the store in a directory, nor ends
    /// its last opening.
    static func whileNobodyOpens<R>(
        _ place: FileIdentity, _ body: () throws -> R
    ) rethrows -> R {
        let turn = openStores.withLock { stores -> ThreadTurn in
            var known = stores[place] ?? Place()
            known.users += 1
            stores[place] = known
            return known.turn
        }
        defer {
            openStores.withLock { stores in
                stores[place]?.users -= 1
                if stores[place]?.isInUse == false { stores[place] = nil }
            }
        }
        return try turn.take(body)
    }

    private static func holdingProcess(of directory: String) throws(StoreError) -> Int32? {
        try StoreIdentity.find(in: directory).identity?.opening?.process
    }

    /// Who has the store open, as far as it can be told.
    private static func holder(of directory: String) -> String {
        let process = try? holdingProcess(of: directory)
        guard let process, Waiting.isRunning(process) else { return "another process" }
        guard process == Waiting.processID else { return "process \(process)" }
        let isOurs = (try? FileIdentity(ofDirectory: directory)).map { guardian(of: $0) != nil }
        return isOurs == true
            ? "this process" : "another process that is number \(process), too, as in a container,"
    }
}

/// A store whose directory is locked and whose files weren't touched yet.
private struct Unopened {
    let directory: String
    let options: Environment.Options
    let opening: StoreOpening
    let checking: (UInt64, UInt64) -> Void
    let lock: DirectoryLock

    init(
        _ directory: String, _ options: Environment.Options, _ opening: StoreOpening,
        _ checking: @escaping (UInt64, UInt64) -> Void
    ) throws(StoreError) {
        self.directory = directory
        self.options = options
        self.opening = opening
        self.checking = checking
        lock =
            if let held = opening.lock { try DirectoryLock(sharing: held) } else {
                try DirectoryLock(directory)
            }
    }

    func open() throws -> StoreGuard.Opened {
        try StoreFiles.settleShrinking(directory)
        try StoreFiles.checkNames(directory)
        let found = try StoreIdentity.find(in: directory)
        let data = try StoreFiles.data(directory)
        if let identity = opening.adopted ?? found.identity, identity.isInitialised {
            switch data {
            case .whole: return try openWhole(identity)
            case .unfit(let error): throw error
            case .missing: throw StoreIdentity.lost(identity, in: directory)
            }
        }
        return try make(found, data)
    }

    // MARK: A store that is there

    private func openWhole(_ old: StoreIdentity) throws -> StoreGuard.Opened {
        try opening.check(old)
        try StoreFiles.makePrivate(directory)
        // Not counted as an attempt: it reads every byte with care, and may take long enough to be
        // ended from outside.
        let damaged = try checkPages(old)
        var identity = opening.naming(old)
        identity.closed = nil
        identity.format = StoreIdentity.format
        let attempts = (old.opening?.attempts ?? 0) + 1
        identity.opening = .init(process: Waiting.processID, attempts: attempts)
        // Without one left, what failed for that would stay counted as an opening that died.
        let spare = try SpareDescriptor(directory)
        let environment: Environment
        do {
            try write(identity, isDurable: true)
            try checkLog(old)
            environment = try StoreGuard.opened(directory, options)
        } catch {
            writeWithSpare(old, isDurable: true, spare)
            throw error
        }
        do { try takeOver(environment, identity) } catch {
            try? environment.close()
            writeWithSpare(old, isDurable: true, spare)
            throw error
        }
        identity.opening?.attempts = 0
        // It is open. What can't be written now will be with the next commit, or by the closing.
        // After a power cut the attempt may be counted all the same; the next opening clears it.
        writeWithSpare(identity, isDurable: false, spare)
        let guardian = StoreGuard(
            directory, lock, identity, damaged: damaged, isAdopting: opening.adopted != nil)
        return (environment, guardian)
    }

    /// Writes the identity of a store that is there, unless it is being adopted.
    ///
    /// A full disk is no reason not to open it: what is lost by that is only that a crash in this
    /// opening would not be counted.
    private func write(_ identity: StoreIdentity, isDurable: Bool) throws(StoreError) {
        guard opening.adopted == nil else { return }
        do throws(StoreError) { try identity.write(to: directory, isDurable: isDurable) } catch
            where error.code == .diskFull || error.code == .fileTooLarge
        {
            return
        }
    }

    /// The same with a descriptor in reserve, as far as it can.
    ///
    /// Another thread may take the one that is given up: for a second it is tried again.
    private func writeWithSpare(
        _ identity: StoreIdentity, isDurable: Bool, _ spare: SpareDescriptor
    ) {
        spare.release()
        _ = Waiting.retry(for: .seconds(1)) { () -> Bool? in
            do throws(StoreError) {
                try write(identity, isDurable: isDurable)
                return true
            } catch {
                return error.saysNoDescriptor ? nil : false
            }
        }
    }

    /// Makes a store of format 1 one of today's, in one transaction.
    private func takeOver(_ environment: Environment, _ identity: StoreIdentity) throws {
        let log = EventLog(environment)
        guard try environment.read({ try log.catalog.isFormer($0) }) else { return }
        try environment.write { transaction in
            try log.catalog.takeOver(transaction)
            try log.setIdentity(identity, transaction)
        }
    }

    /// Looks at pages, before LMDB believes them: at the free list, from which the next write takes
    /// what it writes over; after another start of the device, whose power may have gone, at the
    /// log, and at what leaves say that they are of the tables that can be made again; at all of
    /// them where the last opening died; at none where nobody has written to the file since this
    /// library closed it.
    ///
    /// - Returns: the tables that are damaged and can be made again, and what of each.
    private func checkPages(_ old: StoreIdentity) throws -> [String: String] {
        if old.opening == nil, let boot = opening.bootID, boot == old.bootID,
            let closed = old.closed,
            StoreFiles.isUntouched(directory, since: closed, heldBy: StoreIdentity.fileName)
        {
            return [:]
        }
        let extent: PageAudit.Extent
        if old.opening?.attempts ?? 0 > 0 {
            extent = .all
        } else if let boot = opening.bootID, boot != old.bootID {
            extent = .tables(
                Set(EventLog.tableNames + EventLog.formerTableNames), leaves: options.checkedTables)
        } else {
            extent = .tables([])
        }
        let result = try PageAudit.run(at: directory, extent, progress: checking)
        var again: [String: String] = [:]
        var findings: [PageAudit.Finding] = []
        for finding in result.findings {
            if let table = finding.table, options.checkedTables.contains(table) {
                again[table] = again[table] ?? "\(finding)"
            } else {
                findings.append(finding)
            }
        }
        guard let first = findings.first else { return again }
        let more = findings.count - 1
        throw StoreError(
            .damaged, during: "open",
            detail: "of \(directory)/data.mdb \(first)" + (more > 0 ? ", and \(more) more" : ""))
    }

    private func checkLog(_ identity: StoreIdentity) throws {
        try readingOnly { log, transaction in
            try log.checkFormat(transaction)
            try log.checkIdentity(identity, transaction)
            try log.checkTail(transaction)
        }
    }

    private func readingOnly<R>(
        _ body: (EventLog, borrowing ReadTransaction) throws -> R
    ) throws -> R {
        var options = options
        options.readOnly = true
        options.create = false
        let environment = try StoreGuard.opened(directory, options)
        let result = Result {
            try environment.read { transaction in try body(EventLog(environment), transaction) }
        }
        try environment.close()
        return try result.get()
    }

    // MARK: A store that isn't, or not yet

    private func make(
        _ found: StoreIdentity.Found, _ data: StoreFiles.Data
    ) throws -> StoreGuard.Opened {
        switch (data, found) {
        case (.whole, _): try checkEmpty(found)
        case (.unfit(let error), .nothing), (.unfit(let error), .unfit): throw error
        case (.unfit, .whole):
            guard options.create else { throw missing }
            try StoreFiles.removeUnfinished(directory)
        case (.missing, .unfit(let problem)):
            throw StoreError(
                .lost, during: "open", detail: "\(problem), and there is no data.mdb beside it")
        case (.missing, .nothing), (.missing, .whole): guard options.create else { throw missing }
        }
        try StoreFiles.makePrivate(directory)
        var identity = opening.naming(
            StoreIdentity(storeID: found.identity?.storeID ?? opening.makeID()))
        identity.opening = .init(process: Waiting.processID, attempts: 0)
        try identity.write(to: directory, isDurable: true)
        var options = options
        options.create = true
        let environment = try StoreGuard.opened(directory, options)
        do {
            try environment.write { transaction in
                try EventLog(environment).setIdentity(identity, transaction)
            }
            identity.isInitialised = true
            try identity.write(to: directory, isDurable: true)
        } catch {
            try? environment.close()
            throw error
        }
        return (environment, StoreGuard(directory, lock, identity))
    }

    private var missing: StoreError {
        StoreError(.missing, during: "open", detail: "no store in \(directory)")
    }

    /// Only a store without events can be created again.
    private func checkEmpty(_ found: StoreIdentity.Found) throws {
        let last = try readingOnly { log, transaction in
            try log.checkFormat(transaction)
            return try log.lastPosition(transaction)
        }
        guard last != .start else { return }
        let problem =
            switch found {
            case .nothing: "\(directory)/identity.json is missing"
            case .unfit(let problem): problem
            case .whole: "\(directory)/identity.json says that the store was never finished"
            }
        throw StoreError(
            .unfitIdentity, during: "open",
            detail: "\(problem), and the log holds events up to \(last)")
    }
}
