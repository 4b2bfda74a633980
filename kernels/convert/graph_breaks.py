"""What torch.compile does where it gives up inside of a converted forward.

It then runs the forward as Python and compiles each function that this calls. One of them would be
``Interception.__torch_function__``, compiled apart from the call that it stands for: seen with torch 2.13,
``torch.zeros(..., dtype=...)`` fails in it, which nn.LSTM and nn.GRUCell call. So it is run as it is, with
all that it calls. Tracing through it as part of a whole forward is another matter, and stays.
"""

from __future__ import annotations

from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy

from gateproof.kernels.convert.interception import Interception

_AS_IT_IS = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)
set_code_exec_strategy(Interception.__torch_function__.__code__, _AS_IT_IS)
