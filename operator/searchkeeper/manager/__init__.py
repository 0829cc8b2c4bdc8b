"""The operator's process: watches, workers, leader election, fencing, health, metrics, logs, shutdown."""
