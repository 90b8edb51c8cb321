"""What the local gateway builds on: the short cuts of `gateway_speed`, or Jupyter's own parts where they do not fit."""

from __future__ import annotations

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from kernel_gateway.services.kernels.manager import SeedingMappingKernelManager

ConnectionBase: Any = ZMQChannelsWebsocketConnection
KernelManagerBase: Any = SeedingMappingKernelManager
NOT_QUICK = ""
"""Why the short cuts cannot be used; empty when they are."""

try:
    from .gateway_speed import QuickConnection, QuickKernelManager
except Exception as error:  # Another version of Jupyter's packages: then it is slower, and works.
    NOT_QUICK = f"{type(error).__name__}: {error}"
else:
    ConnectionBase, KernelManagerBase = QuickConnection, QuickKernelManager
