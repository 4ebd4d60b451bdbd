"""Colors of configurations in a study's figures, after Okabe and Ito."""

ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
GREY = "#7F7F7F"
BLACK = "#222222"
