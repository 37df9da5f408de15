// KintoTarget.swift — the target of a request, by its path and query.

/// The target of a path below `/v1`.
enum KintoTarget: Sendable, Hashable {
    case hello
    case flush
    case batch
    case list(KintoPlace)
    case object(KintoPlace, id: String)
    case unknown

    /// Reads a path without its query, for example `/v1/buckets/b/collections/c/records/r`.
    init(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { KintoQuery.decoded($0) }
        guard parts.count >= 3, parts[0].isEmpty, parts[1] == "v1" else {
            self = .unknown
            return
        }
        let names = Array(parts.dropFirst(2))
        if names == [""] {
            self = .hello
        } else if names == ["__flush__"] {
            self = .flush
        } else if names == ["batch"] {
            self = .batch
        } else if names.contains("") {
            self = .unknown
        } else if names.count % 2 == 1, let place = KintoPlace(names) {
            self = .list(place)
        } else if let id = names.last, let place = KintoPlace(Array(names.dropLast())) {
            self = .object(place, id: id)
        } else {
            self = .unknown
        }
    }
}

/// A list's address: all buckets, a bucket's collections or a collection's records.
struct KintoPlace: Sendable, Hashable {
    /// For example `buckets`, `b`, `collections`, `c`, `records`.
    let names: [String]

    /// An address, or nil when the names are not those of a list.
    init?(_ names: [String]) {
        let kinds = names.indices.filter { $0 % 2 == 0 }.map { names[$0] }
        guard names.count % 2 == 1, ["buckets", "collections", "records"].starts(with: kinds) else {
            return nil
        }
        self.names = names
    }

    /// The server's word for an object of the list.
    var resourceName: String { ["bucket", "collection", "record"][names.count / 2] }

    /// The list and id of each parent object of this list, outermost first.
    var parents: [(place: KintoPlace, id: String)] {
        stride(from: 1, to: names.count, by: 2).compactMap { index in
            KintoPlace(Array(names[..<index])).map { ($0, names[index]) }
        }
    }

    /// Whether this list is inside the object.
    func isInside(_ place: KintoPlace, id: String) -> Bool {
        names.count > place.names.count && names.starts(with: place.names + [id])
    }
}

/// The query of a list request.
struct KintoQuery: Sendable {
    /// Names and values in order, decoded.
    let items: [(name: String, value: String)]

    /// Parses the text after the question mark.
    init(_ text: some StringProtocol) {
        items = text.split(separator: "&").map { item in
            let halves = String(item.map { $0 == "+" ? " " : $0 })
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(halves[0]), halves.count > 1 ? Self.decoded(halves[1]) : "")
        }
    }

    /// A value by its name.
    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The query of the next page: the same one with another limit and token.
    func next(limit: Int, token: Int64) -> String {
        let kept = items.filter { $0.name != "_limit" && $0.name != "_token" }
            .map { "\($0.name)=\(Self.encoded($0.value))" }
        return (["_limit=\(limit)"] + kept + ["_token=\(token)"]).joined(separator: "&")
    }

    /// Undoes percent encoding; a percent sign without two digits stays as it is.
    static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Character(UnicodeScalar(byte))
            if byte < 0x80, scalar.isLetter || scalar.isNumber || "-._~".contains(scalar) {
                return String(scalar)
            }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
