// Dhis2Query.swift — the parameters of a request, and the request itself.

import HTTPTypes
import TidemarkEvents

/// A request, read so far.
struct Dhis2Call: Sendable {
    var method: HTTPRequest.Method
    var path: Dhis2Path
    var query: Dhis2Query
    var body: [UInt8]
    var now: Timestamp
    var user: Dhis2User
    var contentType: String?
}

/// Parameters; where the two APIs differ in a name, both are asked for.
struct Dhis2Query: Sendable {
    let items: [(name: String, value: String)]

    init(_ text: some StringProtocol) { items = KintoQuery(text).items }

    /// The first value that one of the names has.
    func text(_ names: String...) -> String? {
        items.first { names.contains($0.name) && !$0.value.isEmpty }?.value
    }

    func flag(_ names: String...) -> Bool? {
        items.first { names.contains($0.name) }.map { $0.value == "true" }
    }

    /// All values of the names, cut at commas and semicolons.
    func list(_ names: String...) -> [String] {
        items.filter { names.contains($0.name) }.flatMap { item in
            item.value.split { $0 == "," || $0 == ";" }.map(String.init)
        }
    }

    /// All values of a name, whole.
    func all(_ name: String) -> [String] {
        items.filter { $0.name == name }.map(\.value)
    }

    /// A number above zero.
    func count(_ name: String) throws(Dhis2Rejection) -> Int? {
        guard let text = text(name) else { return nil }
        guard let count = Int(text), count > 0 else {
            throw Dhis2Rejection(400, "Value '\(text)' is not valid for parameter \(name).")
        }
        return count
    }

    /// The page that is wanted; nil for all rows at once.
    func page() throws(Dhis2Rejection) -> Dhis2Page? {
        if flag("paging") == false || flag("skipPaging") == true { return nil }
        return Dhis2Page(
            number: try count("page") ?? 1, size: try count("pageSize") ?? 50,
            isCounted: flag("totalPages") ?? false)
    }
}

/// A page of a list, numbered from 1.
struct Dhis2Page: Sendable, Hashable {
    var number: Int
    var size: Int
    /// Whether the number of all rows is wanted.
    var isCounted: Bool

    func cut<Row>(_ rows: [Row]) -> [Row] {
        let (skipped, isTooMany) = (number - 1).multipliedReportingOverflow(by: size)
        return isTooMany ? [] : Array(rows.dropFirst(skipped).prefix(size))
    }

    func pages(of total: Int) -> Int { max(1, (total + size - 1) / size) }

    /// The place of a row among equal ones, which is another one on each page.
    func tie(_ id: String) -> UInt64 {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in "\(number)/\(size)/\(id)".utf8 {
            hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        return (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
    }

    /// Whether no row follows.
    func isLast(of total: Int) -> Bool { number >= pages(of: total) }
}
