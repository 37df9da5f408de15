// ChaosWire.swift — what went over the wire, as nginx wrote it down (Tools/ratelimit).

import Foundation
import TidemarkEvents

@testable import SyncSupport

/// One request that nginx saw.
struct WireLine: Sendable {
    var method: String
    var path: String
    var status: Int
    var precondition: String
    /// Seconds since 1970.
    var began: Double
    var ended: Double
    var retryAfter: Double?
    var body: String
}

/// A write, by itself or in a batch.
struct WireWrite: Hashable, Sendable {
    var method: String
    var path: String
    var precondition: String
    var body: String
}

extension WireLine {
    init?(_ json: String) {
        guard let value = try? JSONValue(parsing: Array(json.utf8)),
            case .number(let ended)? = value["ended"], case .number(let seconds)? = value["seconds"]
        else { return nil }
        let match = value["ifMatch"]?.stringValue ?? ""
        method = value["method"]?.stringValue ?? ""
        path = value["path"]?.stringValue ?? ""
        status = Int(value["status"]?.int64Value ?? 0)
        precondition = match.isEmpty ? value["ifNoneMatch"]?.stringValue ?? "" : match
        self.ended = Double(ended.text) ?? 0
        began = self.ended - (Double(seconds.text) ?? 0)
        retryAfter = value["retryAfter"]?.stringValue.flatMap(Double.init)
        body = value["body"]?.stringValue ?? ""
    }

    /// The writes that it asks for.
    var writes: [WireWrite] {
        guard method == "POST", path.hasSuffix("/batch") else {
            guard method != "GET" else { return [] }
            return [WireWrite(method: method, path: path, precondition: precondition, body: body)]
        }
        let batch = try? JSONValue(parsing: Array(body.utf8))
        let usual = batch?["defaults"]?["method"]?.stringValue ?? "GET"
        return (batch?["requests"]?.array ?? []).compactMap { part in
            let method = part["method"]?.stringValue ?? usual
            guard method != "GET" else { return nil }
            let headers = part["headers"]
            let precondition = headers?["If-Match"] ?? headers?["If-None-Match"]
            return WireWrite(
                method: method, path: part["path"]?.stringValue ?? "",
                precondition: precondition?.stringValue ?? "",
                body: part["body"].map { "\($0)" } ?? "")
        }
    }
}

/// The wire log of one test.
struct WireLog: Sendable {
    static let url = ProcessInfo.processInfo.environment["TIDEMARK_RATELIMIT"]
    static let file = ProcessInfo.processInfo.environment["TIDEMARK_WIRE"]
    static let isThere = url != nil && file != nil
    static let reason: String =
        "TIDEMARK_RATELIMIT and TIDEMARK_WIRE name no rate limiter and no log; Tools/test does"

    let lines: [WireLine]

    /// The lines about a bucket.
    init(bucket: String) throws {
        let text = try String(contentsOfFile: Self.file ?? "", encoding: .utf8)
        lines = text.split(separator: "\n").filter { $0.contains("/\(bucket)/") }
            .compactMap { WireLine(String($0)) }
    }

    /// What must not be on a wire, a line each.
    var findings: [String] {
        var findings: [String] = []
        var taken: Set<WireWrite> = []
        var quietUntil = 0.0
        for line in lines.sorted(by: { $0.began < $1.began }) {
            let what = "\(line.method) \(line.path) \(line.status)"
            if line.began < quietUntil { findings.append("inside a Retry-After: \(what)") }
            if let seconds = line.retryAfter { quietUntil = max(quietUntil, line.ended + seconds) }
            for write in line.writes {
                if write.precondition.isEmpty { findings.append("no precondition: \(write)") }
                if taken.contains(write) { findings.append("sent again: \(write)") }
                if (200..<300).contains(line.status) { taken.insert(write) }
            }
        }
        return findings
    }
}
