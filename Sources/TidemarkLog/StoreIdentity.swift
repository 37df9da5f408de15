// StoreIdentity.swift — what is known about a store beside its data: the file identity.json.
//
//   member       holds
//   format       2, or 1 before the store is taken over; a reader refuses a greater one
//   storeID      given when the store was made; also in the store itself, as "identity"
//   boot         during which start of the device it was last opened for writing, or null
//   account      whose data it is, or null
//   closed       after a clean close {"bytes", "inode", "modified"} of data.mdb; else missing
//   device       on which device it was last opened for writing, or null
//   initialised  false while the store is being made
//   position     a position that the log had reached, never more than it holds
//   root         the Merkle root up to that position, in hex; "" for position 0
//   open         null after a clean close; else {"pid", "attempts"}, the process that had it open
//                and how many openings in a row died before they were through

package import TidemarkEvents
package import TidemarkStore

/// The content of `identity.json`.
package struct StoreIdentity: Sendable, Hashable {
    /// A process that has, or had, the store open for writing.
    package struct Opening: Sendable, Hashable {
        package var process: Int32
        /// Openings that ended before they were through, this one counted until it is.
        package var attempts: Int

        package init(process: Int32, attempts: Int) {
            self.process = process
            self.attempts = attempts
        }
    }

    package static let fileName = "identity.json"
    /// The format that this version writes, of the file and of the store as a whole; it reads
    /// earlier ones.
    package static let format: Int64 = 2

    package var storeID: String
    package var format = StoreIdentity.format
    package var account: String?
    package var device: String?
    /// During which start of the device it was last opened for writing; nil where not known.
    package var bootID: String?
    package var isInitialised: Bool
    package var position: Position
    package var root: Hash
    package var opening: Opening?
    /// The data file as the last closing left it; nil while the store is open, or after a crash.
    package var closed: FileMark?

    package init(
        storeID: String, account: String? = nil, device: String? = nil, isInitialised: Bool = false,
        position: Position = .start, root: Hash = [], opening: Opening? = nil
    ) {
        self.storeID = storeID
        self.account = account
        self.device = device
        self.isInitialised = isInitialised
        self.position = position
        self.root = root
        self.opening = opening
    }

    // MARK: The file

    /// What is in a store's directory.
    package enum Found: Sendable, Hashable {
        case nothing
        /// Bytes that are no identity: what is wrong with them.
        case unfit(String)
        case whole(StoreIdentity)

        /// The identity, if there is a whole one.
        package var identity: StoreIdentity? {
            if case .whole(let identity) = self { identity } else { nil }
        }
    }

    /// Reads the identity of the store in a directory.
    ///
    /// - Throws: ``StoreError``: `newerFormat`; `invalidPath` when the file is a link; or what the
    ///   system says.
    package static func find(in directory: String) throws(StoreError) -> Found {
        let path = directory + "/" + fileName
        guard let bytes = try SmallFile(fileName, in: directory).read() else { return .nothing }
        guard let object = (try? JSONValue(parsing: bytes))?.object else {
            return .unfit("\(path) is not a JSON object")
        }
        guard let format = object["format"]?.int64Value, format >= 1 else {
            return .unfit("\(path) does not say which format it has")
        }
        guard format <= Self.format else { throw newerFormat(format, path) }
        guard let identity = StoreIdentity(object) else {
            return .unfit("\(path) lacks a member, or one is not what it should be")
        }
        return .whole(identity)
    }

    static func newerFormat(_ format: some BinaryInteger, _ subject: String) -> StoreError {
        StoreError(
            .newerFormat, during: "open",
            detail: "\(subject) is of format \(format), and this version knows format "
                + "\(Self.format)")
    }

    /// The error when the data file of this identity isn't there.
    package static func lost(_ identity: StoreIdentity, in directory: String) -> StoreError {
        StoreError(
            .lost, during: "open",
            detail: "\(directory)/data.mdb is missing, and held events up to \(identity.position)")
    }

    /// Writes it into a directory; see ``SmallFile/replace(with:isDurable:)``.
    package func write(to directory: String, isDurable: Bool) throws(StoreError) {
        try SmallFile(Self.fileName, in: directory).replace(with: encoded, isDurable: isDurable)
    }

    // MARK: JSON

    /// The file's bytes: members sorted by name, one a line.
    package var encoded: [UInt8] {
        var open = JSONValue.null
        if let opening {
            open = ["attempts": .init(opening.attempts), "pid": .init(opening.process)]
        }
        let mark = closed.map { closed -> JSONValue in
            [
                "bytes": .init(closed.bytes), "inode": .init(closed.inode),
                "modified": .init(closed.modified),
            ]
        }
        let members: [(String, JSONValue?)] = [
            ("account", .init(account)), ("boot", .init(bootID)), ("closed", mark),
            ("device", .init(device)),
            ("format", .init(format)), ("initialised", .bool(isInitialised)), ("open", open),
            ("position", .init(position.rawValue)), ("root", .string(Hexadecimal.encode(root))),
            ("storeID", .string(storeID)),
        ]
        let lines = members.compactMap { name, value in
            value.map {
                "  \"\(name)\": " + String(decoding: $0.encoded(sortedKeys: true), as: UTF8.self)
            }
        }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    private init?(_ object: JSONObject) {
        guard let storeID = object["storeID"]?.stringValue,
            let isInitialised = object["initialised"]?.boolValue,
            let position = object["position"]?.int64Value, position >= 0,
            let root = object["root"]?.stringValue.flatMap({ Hexadecimal.decode($0.lowercased()) }),
            root.count == (position == 0 ? 0 : 32),
            let account = Self.optionalText(object["account"]),
            let device = Self.optionalText(object["device"]), let open = object["open"]
        else { return nil }
        self.init(
            storeID: storeID, account: account, device: device, isInitialised: isInitialised,
            position: Position(UInt64(position)), root: root)
        bootID = object["boot"]?.stringValue
        format = object["format"]?.int64Value ?? Self.format
        closed = object["closed"]?.object.flatMap(FileMark.init)
        guard open != .null else { return }
        guard let process = open.object?["pid"]?.int64Value,
            let attempts = open.object?["attempts"]?.int64Value, attempts >= 0
        else { return nil }
        opening = Opening(
            process: Int32(clamping: process), attempts: Int(clamping: attempts))
    }

    /// A text or null; nil when it is neither.
    private static func optionalText(_ value: JSONValue?) -> String?? {
        switch value {
        case .null: .some(nil)
        case .string(let text): .some(text)
        default: nil
        }
    }

    /// The name of a device by what its system tells: the text of Linux's machine-id, or else the
    /// bytes of a Mac's id; nil where there is neither.
    package static func device(systemFile text: String?, hostID: [UInt8]?) -> String? {
        let machine = (text ?? "").filter { !$0.isWhitespace }
        return device(machine: machine.isEmpty ? Hexadecimal.encode(hostID ?? []) : machine)
    }

    /// The name of a device by a number that its system gives it; nil when that is empty.
    package static func device(machine: String) -> String? {
        guard !machine.isEmpty else { return nil }
        return Hexadecimal.encode(SHA256Digest.of(Array("tidemark\(machine)".utf8)).prefix(16))
    }
}

extension FileMark {
    fileprivate init?(_ object: JSONObject) {
        guard let bytes = object["bytes"]?.int64Value, let inode = object["inode"]?.int64Value,
            let modified = object["modified"]?.int64Value
        else { return nil }
        self.init(inode: inode, bytes: Int(bytes), modified: modified)
    }
}

extension JSONValue {
    fileprivate init(_ number: some BinaryInteger) { self = .number(JSONNumber(number)) }
    fileprivate init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }
}
