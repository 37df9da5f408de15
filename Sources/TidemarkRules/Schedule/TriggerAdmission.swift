// TriggerAdmission.swift — which triggers may begin a sync run, by the gates of the model, and
// which of them are logged as attempts.
//
//   trigger             begins a run               counts
//   userRequested       always                     for every gate
//   named, with gate    where its gate has room    for its gate
//   any other           always                     for none
//
// An attempt of an earlier boot counts as made when this one began, the latest that it can have
// been: no clock that people set is asked, and no attempt holds a gate for longer than its window.

package import TidemarkEvents

/// What a model's gates make of the triggers of a run that is about to begin.
package struct TriggerAdmission: Sendable, Hashable {
    /// Those that may begin it, the highest first; none where all of them are held.
    package private(set) var admitted: [SyncTrigger] = []
    /// Those that are to be logged as attempts.
    package private(set) var attempts: [SyncTrigger] = []
    /// In how many microseconds the first of the others may begin a run; nil where none is held.
    package private(set) var wait: Int64?

    /// - Parameters:
    ///   - triggers: why the run is to begin, the highest first.
    ///   - gates: those of the model.
    ///   - times: when the attempts that count for a gate were made, by the device's clock of now.
    package init(
        _ triggers: [SyncTrigger], _ gates: [TriggerGate], at now: Timestamp,
        times: (TriggerGate) throws -> [Timestamp]
    ) rethrows {
        // One run is one attempt, whoever else asks for it.
        let isUsers = triggers.contains(.userRequested)
        if isUsers, !gates.isEmpty { attempts = [.userRequested] }
        for trigger in triggers {
            guard !isUsers, case .named(let name) = trigger,
                let gate = gates.first(where: { $0.name == name })
            else {
                admitted.append(trigger)
                continue
            }
            let left = gate.wait(at: now, times: try times(gate))
            if left > 0 {
                wait = min(wait ?? left, left)
            } else {
                admitted.append(trigger)
                attempts.append(trigger)
            }
        }
    }
}

extension TriggerGate {
    /// What the attempts are counted by.
    private var limit: RequestLimit { RequestLimit(requests: count, within: window) }

    /// In how many microseconds the next attempt may be made.
    ///
    /// - Parameter times: when attempts were made, by the device's clock of now.
    package func wait(at now: Timestamp, times: [Timestamp]) -> Int64 {
        RequestWindow([limit], times).wait(at: now)
    }

    /// The attempts that matter from now on, with one more.
    package func adding(_ time: Timestamp, to times: [Timestamp]) -> [Timestamp] {
        var window = RequestWindow([limit], times)
        window.add(time)
        return window.times
    }
}

extension Moment {
    /// When the device's boot began, by the device's clock of now.
    package var boot: Timestamp { now.adding(from: uptime, to: 0) }
}
