// Moments.swift — the times of a log as Foundation's dates, and back.

public import Foundation
public import TidemarkEvents

extension Timestamp {
    /// The nearest microsecond; nil where that is out of range, and for NaN.
    public init?(_ date: Date) {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.magnitude < 1e13 else { return nil }
        let whole = seconds.rounded(.down)
        let secondsTo2001: Int64 = 978_307_200
        let fraction = Int64(((seconds - whole) * 1e6).rounded())
        let (micros, isFar) = (Int64(whole) + secondsTo2001)
            .multipliedReportingOverflow(by: 1_000_000)
        let (sum, isTooFar) = micros.addingReportingOverflow(fraction)
        if isFar || isTooFar { return nil }
        self.init(rawValue: sum)
    }
}

extension Date {
    /// The moment, exact to the microsecond within some centuries of today.
    public init(_ time: Timestamp) {
        let (seconds, rest) = time.rawValue.quotientAndRemainder(dividingBy: 1_000_000)
        let secondsTo2001: Int64 = 978_307_200
        self.init(
            timeIntervalSinceReferenceDate: Double(seconds - secondsTo2001) + Double(rest) / 1e6)
    }
}
