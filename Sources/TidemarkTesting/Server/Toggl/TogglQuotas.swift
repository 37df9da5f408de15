// TogglQuotas.swift — how many requests an hour allows, and how fast they may come.
//
// Requests to `/me…` count for the user, those that name a workspace for its organization. A window
// of an hour begins with the first request that counts.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// Whose requests are counted together.
@nonexhaustive public enum TogglQuota: Sendable, Hashable {
    case user
    case organization(Int64)
}

/// How many requests an hour allows.
public struct TogglQuotaLimits: Sendable, Hashable {
    /// Requests to `/me…`.
    public var user: Int
    /// Requests that name a workspace, for each organization.
    public var organization: Int

    public init(user: Int, organization: Int) {
        self.user = user
        self.organization = organization
    }

    public static let free = TogglQuotaLimits(user: 30, organization: 30)
    public static let starter = TogglQuotaLimits(user: 30, organization: 240)
    public static let premium = TogglQuotaLimits(user: 30, organization: 600)
}

/// The requests counted so far.
struct TogglCounts: Sendable {
    struct Window: Sendable {
        var begin: Timestamp
        var used = 0
    }
    static let windowSeconds: Int64 = 3600

    /// All requests since the server was made.
    var total: [TogglQuota: Int] = [:]
    private var windows: [TogglQuota: Window] = [:]
    /// How full the bucket was when the last request came, in microseconds that it takes to drain.
    private var bucket: (level: Int64, at: Timestamp)?

    /// Counts a request.
    ///
    /// - Returns: whether it is within the quota.
    mutating func take(
        _ quota: TogglQuota, _ limits: TogglQuotaLimits?, _ now: Timestamp
    ) -> Bool {
        total[quota, default: 0] += 1
        guard let limits else { return true }
        var window = open(quota, now) ?? Window(begin: now)
        window.used += 1
        windows[quota] = window
        return window.used <= limits.allowed(quota)
    }

    /// What is left of a quota, and the seconds until it is whole again, rounded up.
    func left(
        _ quota: TogglQuota, _ limits: TogglQuotaLimits, _ now: Timestamp
    ) -> (remaining: Int, resetsIn: Int64) {
        let total = limits.allowed(quota)
        guard let window = open(quota, now) else { return (total, Self.windowSeconds) }
        let end = window.begin.adding(seconds: Self.windowSeconds)
        return (max(0, total - window.used), (end.rawValue - now.rawValue + 999_999) / 1_000_000)
    }

    private func open(_ quota: TogglQuota, _ now: Timestamp) -> Window? {
        windows[quota].flatMap {
            now < $0.begin.adding(seconds: Self.windowSeconds) ? $0 : nil
        }
    }

    /// Puts a request into the bucket; false when it is full.
    mutating func pour(_ limit: SyncSettings.RequestLimit, _ now: Timestamp) -> Bool {
        let whole = Int64(limit.within.seconds) * 1_000_000
        let share = whole / Int64(limit.requests)
        var level: Int64 = 0
        if let bucket { level = max(0, bucket.level - max(0, now.rawValue - bucket.at.rawValue)) }
        let hasRoom = level + share <= whole
        bucket = (hasRoom ? level + share : level, now)
        return hasRoom
    }
}

extension TogglQuotaLimits {
    func allowed(_ quota: TogglQuota) -> Int {
        switch quota {
        case .user: user
        case .organization: organization
        }
    }
}
