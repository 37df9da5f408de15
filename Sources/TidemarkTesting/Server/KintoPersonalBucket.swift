// KintoPersonalBucket.swift — the bucket `default`, an alias of the user's personal bucket, which
// is created, like its collections, when it is first named.

import HTTPTypes

extension KintoServerModel {
    private static let name = "/v1/buckets/default"

    /// If a request names the bucket `default`, creates what it names and replaces the alias by the
    /// bucket's real id, which all answers use.
    mutating func enterPersonalBucket(
        _ request: inout HTTPRequest, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) {
        guard let path = request.path, path.hasPrefix(Self.name) else { return }
        let inside = path.dropFirst(Self.name.count)
        guard inside.isEmpty || inside.first == "/" || inside.first == "?" else { return }
        try authenticate(request)
        let id = Self.personalID(of: request.headerFields[.authorization] ?? "")
        request.path = "/v1/buckets/\(id)" + inside
        makeMissing(id, in: KintoPlace(["buckets"]), nowMilliseconds)
        let names = inside.prefix { $0 != "?" }.split(separator: "/")
        if names.count > 1, names[0] == "collections" {
            let collections = KintoPlace(["buckets", id, "collections"])
            makeMissing(KintoQuery.decoded(names[1]), in: collections, nowMilliseconds)
        }
    }

    private mutating func makeMissing(
        _ id: String, in place: KintoPlace?, _ nowMilliseconds: Int64
    ) {
        guard let place, Self.isLegal(id: id), lists[place]?[id] == nil else { return }
        _ = lists[place, default: KintoList()].write(
            id, ServerJSONObject(), claimed: nil, nowMilliseconds: nowMilliseconds)
    }

    /// An id that is a function of the user, in the form of a UUID.
    private static func personalID(of user: String) -> String {
        var digits = ""
        for start: UInt64 in [0xCBF2_9CE4_8422_2325, 0x8422_2325_CBF2_9CE4] {
            // FNV-1a.
            let hash = user.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
            let text = String(hash, radix: 16)
            digits += String(repeating: "0", count: 16 - text.count) + text
        }
        var id = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { id.append("-") }
            id.append(digit)
        }
        return id
    }
}
