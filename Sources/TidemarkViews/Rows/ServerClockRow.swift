// ServerClockRow.swift — the row 'g' "clock": what the server's clock is believed to show.

import TidemarkEvents
import TidemarkRules

extension ServerClock {
    /// Fields 1 to 5 were those of a clock that believed each answer.
    var encoded: [UInt8] {
        var writer = ProtoWriter()
        if let believed { writer.message(6, believed.encoded) }
        for course in former { writer.message(7, course.encoded) }
        if let doubted { writer.message(8, doubted.encoded) }
        writer.signed(9, given?.rawValue ?? 0)
        writer.position(10, settledAt)
        writer.string(11, bootID)
        for boot in boots { writer.message(12, boot.encoded) }
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init()
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 6: believed = try ClockCourse(parsing: try field.bytes())
            case 7: former.append(try ClockCourse(parsing: try field.bytes()))
            case 8: doubted = try ClockCourse(parsing: try field.bytes())
            case 9: given = Timestamp(rawValue: try field.signed())
            case 10: settledAt = try field.position()
            case 11: bootID = try field.string()
            case 12: boots.append(try ClockCourse(parsing: try field.bytes()))
            default: continue
            }
        }
    }
}

extension ClockCourse {
    fileprivate var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.signed(1, time.rawValue)
        writer.signed(2, seen.now.rawValue)
        writer.string(3, seen.bootID)
        writer.signed(4, seen.uptime)
        writer.position(5, since)
        writer.signed(6, answers)
        writer.signed(7, uptime)
        return writer.bytes
    }

    fileprivate init(parsing bytes: [UInt8]) throws(ProtoError) {
        let unknown = Timestamp(rawValue: 0)
        self.init(
            time: unknown, seen: Moment(now: unknown, bootID: "", uptime: 0), since: .start)
        answers = 0
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: time = Timestamp(rawValue: try field.signed())
            case 2: seen.now = Timestamp(rawValue: try field.signed())
            case 3: seen.bootID = try field.string()
            case 4: seen.uptime = max(0, try field.signed())
            case 5: since = try field.position()
            case 6: answers = min(max(0, try field.signed()), ServerClock.answersMin)
            case 7: uptime = min(max(0, try field.signed()), ServerClock.uptimeMin)
            default: continue
            }
        }
    }
}
